import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/controls.css";
import "./styles/parts.css";
import "./styles/shell.css";
import "./styles/pages.css";
import "./parts/basics";
import "./shell/app";
