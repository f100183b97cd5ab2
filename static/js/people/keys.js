import { bindCopying } from "./copying.js";
import { bindDialogs } from "./dialogs.js";

bindCopying();
bindDialogs();
