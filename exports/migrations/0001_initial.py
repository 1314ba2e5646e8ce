import django.db.models.deletion
import django.db.models.functions.comparison
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='StreamOutbox',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.UUIDField(default=uuid.uuid4, editable=False, verbose_name='token')),
                ('stream', models.CharField(max_length=64, verbose_name='stream')),
                ('fields', models.JSONField(verbose_name='message')),
                ('created_at', models.DateTimeField(verbose_name='created at')),
                ('taken_until', models.DateTimeField(blank=True, null=True, verbose_name='claimed until')),
            ],
            options={
                'verbose_name': 'outbox message',
                'verbose_name_plural': 'outbox messages',
                'db_table': 'stream_outbox',
            },
        ),
        migrations.CreateModel(
            name='Replay',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('title', models.CharField(max_length=200, verbose_name='title')),
                ('file_name', models.CharField(max_length=200, verbose_name='file name')),
                ('kind', models.CharField(max_length=16, verbose_name='format')),
                ('path', models.CharField(max_length=300, unique=True, verbose_name='path')),
                ('size_bytes', models.BigIntegerField(verbose_name='size (bytes)')),
                ('sha256', models.CharField(max_length=64, verbose_name='SHA-256')),
                ('duration_ms', models.BigIntegerField(blank=True, null=True, verbose_name='length (ms)')),
                ('created_at', models.DateTimeField(verbose_name='created at')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='replays', to=settings.AUTH_USER_MODEL, verbose_name='owner')),
            ],
            options={
                'verbose_name': 'replay',
                'verbose_name_plural': 'replays',
                'db_table': 'replays',
                'indexes': [
                    models.Index(models.F('owner'), models.OrderBy(models.F('id'), descending=True), name='replays_of_owner'),
                ],
            },
        ),
        migrations.CreateModel(
            name='ExportJob',
            fields=[
                ('id', models.BigAutoField(db_column='job_id', primary_key=True, serialize=False, verbose_name='ID')),
                ('job_type', models.CharField(choices=[('MP4', 'MP4 video'), ('THUMBNAIL', 'thumbnail'), ('WEBM', 'WebM video'), ('GIF', 'animated GIF')], max_length=16, verbose_name='kind')),
                ('resolution', models.CharField(blank=True, max_length=8, null=True, verbose_name='resolution')),
                ('fps', models.PositiveSmallIntegerField(blank=True, null=True, verbose_name='frames per second')),
                ('from_ms', models.PositiveBigIntegerField(blank=True, null=True, verbose_name='from (ms)')),
                ('to_ms', models.PositiveBigIntegerField(blank=True, null=True, verbose_name='to (ms)')),
                ('sound', models.BooleanField(blank=True, null=True, verbose_name='sound')),
                ('status', models.CharField(choices=[('QUEUED', 'queued'), ('RUNNING', 'running'), ('SUCCEEDED', 'succeeded'), ('FAILED', 'failed'), ('CANCELLED', 'cancelled')], default='QUEUED', max_length=16, verbose_name='status')),
                ('progress', models.IntegerField(default=0, verbose_name='progress')),
                ('phase', models.CharField(blank=True, max_length=32, verbose_name='phase')),
                ('message', models.CharField(blank=True, max_length=1000, verbose_name='message')),
                ('created_at', models.DateTimeField(verbose_name='created at')),
                ('started_at', models.DateTimeField(blank=True, null=True, verbose_name='started at')),
                ('heard_at', models.DateTimeField(blank=True, null=True, verbose_name='last message at')),
                ('ended_at', models.DateTimeField(blank=True, null=True, verbose_name='ended at')),
                ('error_code', models.CharField(blank=True, max_length=64, verbose_name='error code')),
                ('error_message', models.CharField(blank=True, max_length=1000, verbose_name='error')),
                ('result_uri', models.CharField(blank=True, max_length=1000, verbose_name='result')),
                ('result_checksum', models.CharField(blank=True, max_length=64, verbose_name="result's checksum")),
                ('result_size', models.BigIntegerField(blank=True, null=True, verbose_name="result's size (bytes)")),
                ('expired_at', models.DateTimeField(blank=True, null=True, verbose_name='expired at')),
                ('execution_id', models.UUIDField(blank=True, null=True, verbose_name='run')),
                ('owner', models.ForeignKey(db_column='owner_user_id', on_delete=django.db.models.deletion.CASCADE, related_name='exports', to=settings.AUTH_USER_MODEL, verbose_name='owner')),
                ('replay', models.ForeignKey(db_column='target_replay_id', on_delete=django.db.models.deletion.CASCADE, related_name='exports', to='exports.replay', verbose_name='replay')),
            ],
            options={
                'verbose_name': 'export',
                'verbose_name_plural': 'exports',
                'db_table': 'jobs',
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('status__in', ['QUEUED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED'])), name='export_status_known'),
                    models.CheckConstraint(condition=models.Q(('job_type__in', ['MP4', 'THUMBNAIL', 'WEBM', 'GIF'])), name='export_type_known'),
                    models.CheckConstraint(condition=models.Q(('resolution__isnull', True), ('resolution__in', ['360p', '480p', '720p', '1080p']), _connector='OR'), name='export_resolution_known'),
                    models.CheckConstraint(condition=models.Q(('fps__isnull', True), models.Q(('fps__gte', 1), ('fps__lte', 60)), _connector='OR'), name='export_fps_in_range'),
                    models.CheckConstraint(condition=models.Q(('to_ms__isnull', True), ('to_ms__gt', django.db.models.functions.comparison.Coalesce('from_ms', 0)), _connector='OR'), name='export_part_not_empty'),
                    models.CheckConstraint(condition=models.Q(('progress__gte', 0), ('progress__lte', 100)), name='export_progress_is_a_percentage'),
                    models.CheckConstraint(condition=models.Q(models.Q(('ended_at__isnull', False), ('status__in', frozenset(['CANCELLED', 'FAILED', 'SUCCEEDED']))), models.Q(('ended_at__isnull', True), ('status__in', frozenset(['QUEUED', 'RUNNING']))), _connector='OR'), name='export_ended_iff_ended_at'),
                    models.CheckConstraint(condition=models.Q(('expired_at__isnull', True), ('status', 'SUCCEEDED'), _connector='OR'), name='export_expired_only_if_succeeded'),
                    models.CheckConstraint(condition=models.Q(models.Q(('result_size__isnull', False), ('status', 'SUCCEEDED'), models.Q(('result_uri', ''), _negated=True), models.Q(('result_checksum', ''), _negated=True)), models.Q(models.Q(('status', 'SUCCEEDED'), _negated=True), ('result_checksum', ''), ('result_size__isnull', True), ('result_uri', '')), _connector='OR'), name='export_result_iff_succeeded'),
                ],
                'indexes': [
                    models.Index(models.F('owner'), models.OrderBy(models.F('id'), descending=True), name='exports_of_owner'),
                    models.Index(condition=models.Q(('status__in', frozenset(['QUEUED', 'RUNNING']))), fields=['status', 'heard_at'], name='exports_live'),
                    models.Index(condition=models.Q(('ended_at__isnull', False)), fields=['ended_at'], name='exports_by_end'),
                ],
            },
        ),
        migrations.CreateModel(
            name='ExportLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(verbose_name='created at')),
                ('expires_at', models.DateTimeField(verbose_name='expires at')),
                ('export', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='links', to='exports.exportjob', verbose_name='export')),
            ],
            options={
                'verbose_name': 'download link',
                'verbose_name_plural': 'download links',
                'db_table': 'export_links',
                'indexes': [models.Index(fields=['expires_at'], name='export_links_by_expiry')],
            },
        ),
        migrations.CreateModel(
            name='DeadLetter',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source_stream', models.CharField(max_length=64, verbose_name='stream')),
                ('source_id', models.CharField(max_length=64, verbose_name='message id')),
                ('fields', models.JSONField(verbose_name='message')),
                ('whole', models.BooleanField(default=True, verbose_name='whole')),
                ('reason', models.CharField(max_length=500, verbose_name='reason')),
                ('failed_at', models.DateTimeField(verbose_name='failed at')),
                ('state', models.CharField(choices=[('open', 'Open'), ('republished', 'Republished'), ('discarded', 'Discarded')], default='open', max_length=16, verbose_name='state')),
                ('handled_at', models.DateTimeField(blank=True, null=True, verbose_name='handled at')),
                ('handled_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='handled by')),
            ],
            options={
                'verbose_name': 'dead letter',
                'verbose_name_plural': 'dead letters',
                'db_table': 'dead_letters',
                'indexes': [models.Index(fields=['state', '-id'], name='dead_letters_newest')],
                'constraints': [models.UniqueConstraint(fields=('source_stream', 'source_id'), name='one_letter_per_message'), models.CheckConstraint(condition=models.Q(models.Q(('handled_at__isnull', True), ('state', 'open')), models.Q(models.Q(('state', 'open'), _negated=True), ('handled_at__isnull', False)), _connector='OR'), name='dead_letter_handled_iff_not_open')],
            },
        ),
        migrations.CreateModel(
            name='ExportEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('job_id', models.BigIntegerField(verbose_name='export')),
                ('type', models.CharField(max_length=16, verbose_name='event')),
                ('data', models.JSONField(verbose_name='message')),
                ('at', models.DateTimeField(verbose_name='time')),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='owner')),
            ],
            options={
                'verbose_name': 'export event',
                'verbose_name_plural': 'export events',
                'db_table': 'export_events',
                'indexes': [models.Index(fields=['owner', 'id'], name='export_events_of_owner'), models.Index(fields=['at'], name='export_events_by_age')],
            },
        ),
    ]
