"""Short test videos whose decoders need as much memory as their codecs allow."""

import os
from dataclasses import dataclass, field
from pathlib import Path

import av
from PIL import Image

FRAMES = 40
os.environ["SVT_LOG"] = "1"  # it logs a lot
MANY_REFERENCES = "bframes=8:b-pyramid=1:ref=5:b-adapt=0:rc-lookahead=20:log-level=none"


@dataclass(frozen=True)
class Video:
    name: str
    codec: str
    container: str = "mp4"
    format: str = "yuv420p"
    size: tuple[int, int] = (3840, 2160)
    options: dict[str, str] = field(default_factory=dict)

    def write(self, path: Path) -> None:
        """A moving pattern: no part of a picture is at the same place in the next."""
        small = self.size[0] // 4, self.size[1] // 4
        noise = Image.effect_noise(small, 90).resize(self.size).convert("RGB")
        with av.open(str(path), "w", format=self.container) as out:
            stream = out.add_stream(self.codec, rate=30, options=self.options)
            stream.width, stream.height, stream.pix_fmt = *self.size, self.format
            for index in range(FRAMES):
                moved = noise.transform(self.size, Image.Transform.AFFINE, (1, 0, index * 7, 0, 1, index * 3))
                frame = av.VideoFrame.from_image(moved).reformat(format=self.format)
                out.mux(stream.encode(frame))
            out.mux(stream.encode(None))


H264 = {
    "preset": "ultrafast",
    "crf": "30",
    "bf": "8",
    "refs": "5",
    "x264-params": "b-pyramid=normal:b-adapt=0",
}
HEVC = {"preset": "ultrafast", "crf": "34", "x265-params": MANY_REFERENCES}
AV1 = {"preset": "12", "crf": "50", "svtav1-params": "lp=2"}
VIDEOS = (
    Video("H.264 1920×1080", "libx264", size=(1920, 1080), options={**H264, "refs": "16"}),
    Video("H.264 3840×2160", "libx264", options=H264),
    Video("HEVC 3840×2160", "libx265", options=HEVC),
    Video("VP9 3840×2160", "libvpx-vp9", "webm", options={"deadline": "good", "cpu-used": "8", "crf": "45"}),
    Video("AV1 3840×2160", "libsvtav1", options=AV1),
    Video("H.264 3840×2160, 10 bits", "libx264", format="yuv420p10le", options=H264),
    Video("HEVC 3840×2160, 10 bits", "libx265", format="yuv420p10le", options=HEVC),
    Video("AV1 3840×2160, 10 bits", "libsvtav1", format="yuv420p10le", options=AV1),
)
