import { once } from 'node:events';
import http, { type OutgoingHttpHeaders } from 'node:http';
import { SECURITY_FIELDS } from '../front-door/security-fields.ts';

/** The callers by name, with the fields that each sends. */
export type Callers = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** An address, and its callers. */
export interface Asked {
  readonly path: string;
  readonly callers?: Callers;
  /** The content of requests with POST, PUT, PATCH and QUERY. */
  readonly content?: { readonly type: string; readonly body: string } | undefined;
}

const NOBODY: Callers = { nobody: {} };
/** No endpoint handles `PURGE`; an unknown method would be refused before an endpoint. */
const METHODS = 'GET HEAD POST PUT PATCH DELETE QUERY PROPFIND TRACE PURGE OPTIONS preflight'.split(
  ' ',
);
const WITH_CONTENT = new Set(['POST', 'PUT', 'PATCH', 'QUERY']);
const PREFLIGHT = {
  'Access-Control-Request-Method': 'PUT',
  'Access-Control-Request-Headers': 'authorization, x-any',
};

/** Fields that do not depend on the endpoint, or differ in each request. */
const UNTOLD = new Set(['connection', 'content-length', 'date', 'keep-alive', 'x-request-id']);
/** Fields that every answer has, with their usual values, which the table omits. */
const USUAL: Readonly<Record<string, string>> = {
  ...SECURITY_FIELDS,
  'Strict-Transport-Security': 'max-age=31536000',
};
/** Returns the fields of an English page. */
const page = (forms: string) =>
  `content-language: en; content-security-policy: default-src 'none'; style-src (hash); img-src data:; ${forms}; base-uri 'none'; frame-ancestors 'none'; content-type: text/html; charset=utf-8; referrer-policy: same-origin; x-frame-options: DENY`;
/** Short words for fields that many answers have. */
const SHORT: readonly (readonly [fields: string, word: string])[] = [
  ['content-type: application/problem+json', 'problem'],
  ['cache-control: no-store', 'no-store'],
  [page("form-action 'none'"), 'page'],
  [page("form-action 'self'"), 'page with forms'],
];
const OF_CORS = /^(?:access-control-|vary$)/;

const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });

async function ask(port: number, method: string, path: string, call: Call): Promise<Got> {
  const { origin, fields, body } = call;
  const headers: OutgoingHttpHeaders = { ...fields, ...(origin !== 'none' && { Origin: origin }) };
  const written = method === 'preflight' ? 'OPTIONS' : method;
  if (method === 'preflight') Object.assign(headers, PREFLIGHT);
  const request = http.request({ host: '127.0.0.1', port, method: written, path, headers, agent });
  request.end(body);
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  response.resume();
  await once(response, 'end');
  return described(response, origin);
}

interface Call {
  readonly origin: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** An answer, with the fields that may depend on the origin. */
interface Got {
  readonly answer: string;
  readonly cors: string;
}

/** Returns the status and the fields, without those that have their usual values. */
function described({ statusCode, headersDistinct }: http.IncomingMessage, origin: string): Got {
  const usual = Object.entries(USUAL).map(([name, value]) => [name.toLowerCase(), value] as const);
  const asUsual = new Map(usual);
  const told = Object.entries(headersDistinct)
    .filter(([name, value = []]) => !UNTOLD.has(name) && asUsual.get(name) !== value.join())
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  const field = ([name, values = []]: (typeof told)[number]) =>
    `${name}: ${values.map((one) => plain(one, origin)).join(' | ')}`;
  const fields = told.filter(([name]) => !OF_CORS.test(name)).map(field);
  const missing = usual.flatMap(([name]) => (headersDistinct[name] ? [] : `no ${name}`));
  const answer = [statusCode, ...fields, ...missing].join('; ');
  return {
    answer: SHORT.reduce((text, [long, word]) => text.replace(long, word), answer),
    cors: told
      .filter(([name]) => OF_CORS.test(name))
      .map(field)
      .join('\n    '),
  };
}

/** Returns a value without random parts, and with a name for the caller's origin. */
const plain = (value: string, origin: string) =>
  (value === origin ? '(that origin)' : value)
    .replaceAll(/"[\w-]{22,43}"|'sha256-[^']+'/g, '(hash)')
    .replaceAll(/nonce="[^"]+"/g, 'nonce="(nonce)"')
    .replaceAll(/\/[\w-]{22}$/g, '/(random)')
    .replaceAll(/^([\w.-]+=)[^;]+;/g, '$1(value);');

/** A request and its caller. */
interface Cell {
  readonly method: string;
  readonly caller: string;
  readonly origin: string;
}

/**
 * Sends every method to every address, from each origin and caller, and writes the table of answers. For each address
 * it has the answers with their callers, then the fields for other origins, if any. `origins`: by name; `none` sends
 * no Origin.
 */
export async function endpointTable(
  port: number,
  origins: Readonly<Record<string, string>>,
  asked: readonly Asked[],
): Promise<string> {
  const sections = new Map<string, string[]>();
  for (const one of asked) {
    const text = await section(port, origins, one);
    sections.set(text, [...(sections.get(text) ?? []), one.path]);
  }
  return [...sections].map(([text, paths]) => `${paths.join('\n')}\n${text}\n`).join('\n');
}

async function section(
  port: number,
  origins: Readonly<Record<string, string>>,
  { path, callers = NOBODY, content }: Asked,
): Promise<string> {
  const answers: (readonly [cell: Cell, got: Got])[] = [];
  for (const method of METHODS) {
    const body = WITH_CONTENT.has(method) ? content : undefined;
    for (const [caller, fields] of Object.entries(callers)) {
      for (const [name, origin] of Object.entries(origins)) {
        const typed = body ? { 'Content-Type': body.type, ...fields } : fields;
        const call = { origin, fields: typed, ...(body && { body: body.body }) };
        answers.push([{ method, caller, origin: name }, await ask(port, method, path, call)]);
      }
    }
  }
  const all = { caller: Object.keys(callers), origin: Object.keys(origins) };
  const rows = (member: keyof Got) =>
    [...Map.groupBy(answers, ([, got]) => got[member])]
      .filter(([said]) => said !== '')
      .map(
        ([said, who]) =>
          `  ${whoOf(
            who.map(([cell]) => cell),
            all,
          )}\n    ${said}`,
      );
  const cors = rows('cors');
  return [...rows('answer'), ...(cors.length > 0 ? ['  to other origins:', ...cors] : [])].join(
    '\n',
  );
}

type All = Readonly<Record<'caller' | 'origin', readonly string[]>>;

/** Describes the callers in words, with one line for methods that have the same callers. */
function whoOf(cells: readonly Cell[], { caller, origin }: All): string {
  const said = (values: readonly string[], among: readonly string[], word: string) =>
    values.length === among.length ? '' : ` ${word} ${values.join(', ')}`;
  const who = (of: readonly Cell[]) =>
    grouped(of, 'caller', (some) => said(valuesOf(some, 'origin'), origin, 'from'))
      .map(([callers, rest]) => said(callers, caller, 'by') + rest)
      .join(' and');
  const lines = grouped(cells, 'method', who).map(([methods, rest]) => methods.join(' ') + rest);
  return lines.join('\n  ');
}

const valuesOf = (cells: readonly Cell[], member: keyof Cell) => [
  ...new Set(cells.map((cell) => cell[member])),
];

/** Returns the values of a member, with values of the same text together. */
function grouped(
  cells: readonly Cell[],
  member: keyof Cell,
  say: (cells: readonly Cell[]) => string,
): readonly (readonly [values: readonly string[], said: string])[] {
  const values = valuesOf(cells, member);
  const by = Map.groupBy(values, (value) => say(cells.filter((cell) => cell[member] === value)));
  return [...by].map(([said, same]) => [same, said]);
}
