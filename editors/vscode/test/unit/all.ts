import "./candidates.test";
import "./documents.test";
import "./expand.test";
import "./findings.test";
import "./manifest.test";
import "./messages.test";
import "./probe.test";
import "./serverSettings.test";
