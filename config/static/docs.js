// Swagger UI has its colours for the dark in a class, and leaves it to the page when to set it.
"use strict";
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();
