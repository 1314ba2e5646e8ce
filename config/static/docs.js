// What Swagger UI leaves to the page: its language, and when to set the class that has its colours for the dark.
"use strict";
document.documentElement.lang = "en";
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();
