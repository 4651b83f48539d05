/** The best known import names that differ from the name of their package on the index. */
const PACKAGES = `
attr attrs
bs4 beautifulsoup4
cairosvg CairoSVG
Crypto pycryptodome
cv2 opencv-python-headless
dateutil python-dateutil
discord discord.py
docx python-docx
dotenv python-dotenv
faiss faiss-cpu
fitz PyMuPDF
flask_cors Flask-Cors
fpdf fpdf2
git GitPython
github PyGithub
gitlab python-gitlab
googleapiclient google-api-python-client
grpc grpcio
grpc_status grpcio-status
hcl2 python-hcl2
jose python-jose
jwt PyJWT
kafka kafka-python
ldap python-ldap
magic python-magic
markdown Markdown
markdown_it markdown-it-py
memcache python-memcached
MySQLdb mysqlclient
mysql mysql-connector-python
nacl PyNaCl
newspaper newspaper3k
OpenSSL pyOpenSSL
paho paho-mqtt
PIL pillow
pkg_resources setuptools
pptx python-pptx
psycopg2 psycopg2-binary
pydantic_settings pydantic-settings
pythonjsonlogger python-json-logger
pywintypes pywin32
rest_framework djangorestframework
serial pyserial
skimage scikit-image
sklearn scikit-learn
slack_bolt slack-bolt
slack_sdk slack-sdk
slugify python-slugify
snappy python-snappy
socketio python-socketio
socks PySocks
sqlalchemy SQLAlchemy
telegram python-telegram-bot
tlsh py-tlsh
umap umap-learn
usb pyusb
websocket websocket-client
whois python-whois
wx wxPython
yaml PyYAML
zmq pyzmq
google.cloud.bigquery google-cloud-bigquery
google.cloud.firestore google-cloud-firestore
google.cloud.pubsub google-cloud-pubsub
google.cloud.pubsub_v1 google-cloud-pubsub
google.cloud.secretmanager google-cloud-secret-manager
google.cloud.storage google-cloud-storage
google.cloud.translate google-cloud-translate
google.cloud.vision google-cloud-vision
google.auth google-auth
google.oauth2 google-auth
google.genai google-genai
google.generativeai google-generativeai
google.protobuf protobuf
azure.identity azure-identity
azure.storage.blob azure-storage-blob
azure.keyvault.secrets azure-keyvault-secrets
azure.servicebus azure-servicebus
azure.cosmos azure-cosmos
opentelemetry.sdk opentelemetry-sdk
`;

const packages = new Map(
  PACKAGES.trim()
    .split("\n")
    .map((line) => line.split(" ") as [string, string]),
);

/** A package's name as it is compared, as in PEP 503. */
export const normalised = (name: string): string => name.toLowerCase().replaceAll(/[-_.]+/g, "-");

/** The package that most likely provides a module, by the longest known beginning of its name. */
export function packageOf(module: string): string {
  const names = module.split(".");
  for (let length = names.length; length > 0; length--) {
    const found = packages.get(names.slice(0, length).join("."));
    if (found) {
      return found;
    }
  }
  // Packages of a shared namespace are called as their modules are: google.cloud.storage, azure.storage.
  return (names[0] === "google" || names[0] === "azure" ? names.slice(0, 3).join("-") : names[0]!).replaceAll(
    "_",
    "-",
  );
}

/**
 * Whether a package may provide a module: its name is the module's, or has it as a word, as python-dateutil and
 * google-cloud-storage have.
 */
export function mayProvide(name: string, module: string): boolean {
  const own = normalised(name);
  const top = normalised(module.split(".")[0]!);
  return (
    own === normalised(packageOf(module)) ||
    own === top ||
    own.split("-").includes(top) ||
    own.startsWith(`${top}-`) ||
    own.endsWith(`-${top}`)
  );
}
