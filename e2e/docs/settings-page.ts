import { configJsonSchema } from '#shared/config/json-schema.ts';
import { block, code, GENERATED, table } from './markdown.ts';
import { EXAMPLES } from './setting-examples.ts';
import { isRate, type Schema, typeOf } from './setting-type.ts';

const HEAD = ['Setting', 'Values', 'Default', 'Meaning'];
/** A space's member with more settings than this has its own table. */
const FEW = 3;

const VARIABLES = [
  ['`COUNTERSIGN_CONFIG`', 'The configuration file.'],
  [
    '`COUNTERSIGN_POSTGRES_URL`',
    'Use PostgreSQL instead of the embedded store: its URL, or the URLs of the primary and its standbys with commas between them. Other members of `store` in the file stay.',
  ],
  [
    '`COUNTERSIGN_REDIS_URL`',
    'Use Redis beside PostgreSQL, which `COUNTERSIGN_POSTGRES_URL` or the file names: `redis://host:port`, `sentinel:redis://a:26379,redis://b:26379` or `cluster:redis://a:6379,redis://b:6379`. Other members of `store.redis` in the file stay.',
  ],
  [
    '`COUNTERSIGN_AUTHZ_URL`',
    'The origin where the resource server reaches the authorization server, if not its public one. It asks there for keys (`jwks.url`), for the codes of sign-ins before applications, and to verify tokens (`privateTokens.url`). With `npm start` it is the listener.',
  ],
  ['`COUNTERSIGN_WORKERS`', 'The number of processes of each server, as `start --workers`.'],
  [
    '`COUNTERSIGN_SECRET`, `COUNTERSIGN_SECRET_FILE`',
    '[The master secret](../how-to/keys.md#the-master-secret), or a file with it.',
  ],
  [
    '`NODE_COMPILE_CACHE`',
    'A folder where Node keeps compiled code, for a start in half the time. An account that can write there decides what runs. By default it is `node_modules/.cache/countersign` of the installation, if only its owner can write there.',
  ],
];

/** The page of all settings of the configuration file. */
export function settingsPage(schema: Schema = configJsonSchema()): string {
  const { $schema, ...members } = schema.properties ?? {};
  return [
    GENERATED,
    '# Settings',
    '',
    'Both servers read one JSON file, which `COUNTERSIGN_CONFIG` names. Without it they run in development, with spaces and accounts to try. `npm run -s cli -- config init` writes a file to start from, `config check` finds mistakes in it, and `config print` shows what it comes to. An unknown setting is a mistake.',
    '',
    'A *rate* such as `{ "burst": 10, "per": 20 }` allows `burst` at once, and one more every `per` seconds. Times are in seconds.',
    '',
    ...($schema ? [`${code('$schema')}: ${$schema.description}`, ''] : []),
    '## Environment variables',
    '',
    `Each setting has a variable: its members in capitals, with \`_\` between words and members. \`people.passkeys.rpId\` is \`COUNTERSIGN_PEOPLE_PASSKEYS_RP_ID\`. \`listen.host\` is \`COUNTERSIGN_LISTEN\`, and \`listen\` as a whole has no variable.`,
    '',
    '- The variable prevails over the file, and the variable of a setting over that of the object around it. An empty variable is the same as none.',
    '- Text is written as it is. Numbers, `true`, `false`, lists and objects are JSON, as in the file: `COUNTERSIGN_TRUSTED_PROXIES=["10.0.0.0/8"]`.',
    '- With `_FILE` at the end of its name, the variable names a file with the value, such as a secret of Docker or Kubernetes. The servers remove the end of its last line. The file has 1 MiB at most. Setting both is a mistake.',
    '- A path is relative to the current folder.',
    '- An unknown variable that begins with `COUNTERSIGN_` is a mistake, like an unknown setting of the file. A misspelt setting might leave a server open. Variables that Kubernetes sets for a service named `countersign` stop no start: the log and `config check` name them.',
    '',
    '`config check` lists the variables that set something, and its errors name the variable in place of the setting. These variables are not settings, or they set several:',
    '',
    ...table(['Variable', 'Meaning'], VARIABLES),
    '',
    ...Object.entries(members).flatMap(([name, member]) => section(name, member)),
  ].join('\n');
}

function section(name: string, member: Schema): readonly string[] {
  const title = [`## ${code(name)}`, ''];
  const example = { [name]: EXAMPLES[name as keyof typeof EXAMPLES] };
  const end = ['', block('json', JSON.stringify(example, null, 2)), ''];
  const settings = settingsOf(member.items ?? member);
  if (settings.length === 0) return [...title, ...table(HEAD, [rowOf(name, member)]), ...end];
  const apart = member.items ? settings.filter(([, { properties }]) => isLong(properties)) : [];
  const rows = settings
    .filter((setting) => !apart.includes(setting))
    .flatMap(([key, one]) => rowsOf(member.items ? key : `${name}.${key}`, one));
  const intro = [member.description ?? '', ''];
  return [...title, ...intro, ...table(HEAD, rows), ...end, ...apart.flatMap(partOfSpace)];
}

const isLong = (properties = {}) => Object.keys(properties).length > FEW;

function partOfSpace([name, member]: Setting): readonly string[] {
  const rows = settingsOf(member).flatMap(([key, one]) => rowsOf(`${name}.${key}`, one));
  const title = [`### ${code(name)} of a space`, '', member.description ?? '', ''];
  return [...title, ...table(HEAD, rows), ''];
}

type Setting = readonly [name: string, schema: Schema];

/** The settings of an object schema, in any of its forms. */
function settingsOf({ properties = {}, anyOf = [], oneOf = [] }: Schema): readonly Setting[] {
  return [...Object.entries(properties), ...[...anyOf, ...oneOf].flatMap(settingsOf)];
}

function rowOf(path: string, schema: Schema): readonly string[] {
  return [code(path), typeOf(schema), defaultOf(schema), schema.description ?? ''];
}

/** A row for a setting, and for each setting below it. */
function rowsOf(path: string, schema: Schema): readonly (readonly string[])[] {
  if (isRate(schema)) return [rowOf(path, schema)];
  const below = settingsOf(schema).flatMap(([key, one]) => rowsOf(`${path}.${key}`, one));
  return [rowOf(path, schema), ...below];
}

function defaultOf({ default: value, properties }: Schema): string {
  if (value === undefined || (properties && !isRate({ properties }))) return '';
  return code(JSON.stringify(value));
}
