import { bindCopying } from "../people/copying.js";
import { bindDialogs } from "../people/dialogs.js";

bindCopying();
bindDialogs();
