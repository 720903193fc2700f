import "./candidates.test";
import "./expand.test";
import "./findings.test";
import "./manifest.test";
import "./probe.test";
import "./serverSettings.test";
