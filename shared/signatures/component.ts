/** THE rule of covered components: the value of each component of a message (RFC 9421 sections 2.1 to 2.4). */
import {
  type BareItem,
  type Dictionary,
  type Item,
  type Params,
  parseDictionary,
} from '#shared/http/structured-fields.ts';
import { MOST_MEMBERS } from '#shared/http/fields.ts';
import { dictionaryText, memberText, paramsText } from '#shared/http/structured-text.ts';
import { refuse } from '#shared/refusals/signatures.ts';
import { BadSignature, type SignedMessage, type SignedRequest } from './message.ts';

/** A component identifier: a name as a String, with parameters (section 2). */
export type Identifier = Item & { readonly type: 'string' };

/** Returns an identifier in the form of the signature base (section 2.5), for example `"content-digest";req`. */
export const identifierText = (identifier: Identifier): string => memberText(identifier);

/** Returns the same text for identifiers that are equal: the order of parameters does not matter (section 2). */
export function identityOf({ value, params }: Identifier): string {
  const sorted = new Map([...params].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return memberText({ type: 'string', value, params: sorted });
}

/** The fields that are Dictionaries, as `;sf` and `;key` require (sections 2.1.1 and 2.1.2). */
const DICTIONARIES: ReadonlySet<string> = new Set([
  'accept-signature',
  'content-digest',
  'priority',
  'repr-digest',
  'signature',
  'signature-input',
  'want-content-digest',
  'want-repr-digest',
]);

const FLAGS_OF_FIELDS: ReadonlySet<string> = new Set(['sf', 'bs', 'tr', 'req']);

/** A message with its parsed parts, since each of 64 components may need the same long query or field. */
interface Source {
  readonly message: SignedMessage;
  readonly fields: Map<string, Field>;
  /** Undefined if the query has too many parameters. */
  query?: Query | undefined;
}

/** The values of a query by the names of its parameters, both percent-encoded again. */
type Query = ReadonlyMap<string, readonly string[]>;

interface Field {
  /** The values of the field's lines. */
  readonly values: readonly string[];
  /** Undefined if the field is malformed. */
  dictionary?: Dictionary | undefined;
}

const sourceOf = (message: SignedMessage): Source => ({ message, fields: new Map() });

/**
 * Returns a function that gives the value of a message's component. It throws `BadSignature` if the message lacks the
 * component, or if the identifier has parameters that are unknown, unfit or contradictory.
 */
export function componentsOf(message: SignedMessage): (identifier: Identifier) => string {
  const own = sourceOf(message);
  let asked: Source | undefined;
  return (identifier) => {
    const { value: name, params } = identifier;
    const source = has(params, 'req') ? (asked ??= sourceOf(requestOf(message))) : own;
    const derived = name.startsWith('@');
    const value = derived ? derivedValue(name, params, source) : fieldValue(name, params, source);
    // Section 2.5: derived values consist of VCHAR and SP, and those of fields also of tabs; no value has a line end
    // or obs-text.
    if (!(derived ? /^[ -~]*$/ : /^[\t -~]*$/).test(value)) {
      throw new BadSignature(
        refuse('component-not-ascii', { component: identifierText(identifier) }),
      );
    }
    return value;
  };
}

/** `;req` is allowed only for responses (section 2.4). */
function requestOf(message: SignedMessage): SignedRequest {
  if ('method' in message) throw new BadSignature(refuse('component-req-of-request'));
  if (message.request === undefined) throw new BadSignature(refuse('component-no-request'));
  return message.request;
}

/** Reads a boolean parameter, which is true if present. Throws `BadSignature` for any other value. */
function has(params: Params, flag: string): boolean {
  const param = params.get(flag);
  if (param === undefined) return false;
  if (param.type === 'boolean' && param.value) return true;
  throw new BadSignature(refuse('component-flag', { param: flag }));
}

const TARGET_URI = /^([a-z][a-z0-9+.-]*):\/\/[^/?#]*([^?#]*)(\?[^#]*)?$/i;

/** The derived components of sections 2.2.1 to 2.2.7. Paths and queries keep their original spelling. */
const DERIVED: Readonly<Record<string, (request: SignedRequest) => string>> = {
  '@method': ({ method }) => method,
  '@target-uri': ({ targetUri }) => targetUri,
  '@authority': ({ targetUri }) => new URL(targetUri).host,
  '@scheme': ({ targetUri }) => partsOf(targetUri).scheme,
  '@request-target': ({ requestTarget }) => requestTarget,
  '@path': ({ targetUri }) => partsOf(targetUri).path,
  '@query': ({ targetUri }) => partsOf(targetUri).query,
};

function partsOf(targetUri: string) {
  const [, scheme = '', path = '', query = '?'] = TARGET_URI.exec(targetUri) ?? [];
  return { scheme: scheme.toLowerCase(), path: path || '/', query };
}

function derivedValue(name: string, params: Params, source: Source): string {
  const { message } = source;
  const allowed = name === '@query-param' ? ['name', 'req'] : ['req'];
  refuseOthers(name, params, (param) => allowed.includes(param));
  if (!('method' in message)) {
    if (name === '@status') return `${message.status}`;
    throw new BadSignature(refuse('component-not-of-answer', { name }));
  }
  if (name === '@query-param') {
    if (!('query' in source)) source.query = parametersOf(message);
    return queryParam(stringParam(params, 'name'), source.query);
  }
  const derive = Object.hasOwn(DERIVED, name) ? DERIVED[name] : undefined;
  if (derive === undefined) throw new BadSignature(refuse('component-not-of-request', { name }));
  return derive(message);
}

/** Returns the parameters of the query; undefined if there are more than 1,024. */
function parametersOf({ targetUri }: SignedRequest): Query | undefined {
  const query = partsOf(targetUri).query.slice(1);
  if (query.split('&', MOST_MEMBERS + 1).length > MOST_MEMBERS) return undefined;
  const all = [...new URLSearchParams(query)];
  const named = Map.groupBy(all, ([name]) => percentEncoded(name));
  return new Map([...named].map(([name, pairs]) => [name, pairs.map(([, value]) => value)]));
}

/** Returns a parameter of the query (section 2.2.8). Throws `BadSignature` unless the query has it exactly once. */
function queryParam(name: string, query: Query | undefined): string {
  if (query === undefined) throw new BadSignature(refuse('component-long-query'));
  const [one, ...more] = query.get(name) ?? [];
  if (one === undefined || more.length > 0) {
    throw new BadSignature(
      refuse('component-query-param', { name, count: more.length ? 'twice' : 'nowhere' }),
    );
  }
  return percentEncoded(one);
}

/** Percent-encodes the set of application/x-www-form-urlencoded in the URL Standard, with `%20` for a space. */
const percentEncoded = (text: string) =>
  encodeURIComponent(text).replaceAll(
    /[!'()~]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

function fieldValue(name: string, params: Params, source: Source): string {
  if (name !== name.toLowerCase()) throw new BadSignature(refuse('component-case', { name }));
  refuseOthers(name, params, (param) => param === 'key' || FLAGS_OF_FIELDS.has(param));
  const field = fieldOf(name, has(params, 'tr'), source);
  const { values } = field;
  const [strict, wrapped, member] = [has(params, 'sf'), has(params, 'bs'), params.has('key')];
  if (wrapped) {
    if (strict || member) throw new BadSignature(refuse('component-bs', { name }));
    return values.map((value) => `:${Buffer.from(value, 'latin1').toString('base64')}:`).join(', ');
  }
  if (!strict && !member) return values.join(', ');
  const dictionary = dictionaryOf(name, field);
  return member ? memberOf(dictionary, stringParam(params, 'key')) : dictionaryText(dictionary);
}

function fieldOf(name: string, isTrailer: boolean, { message, fields }: Source): Field {
  const key = `${name} ${isTrailer}`;
  const known = fields.get(key);
  if (known) return known;
  const lines = (isTrailer ? message.trailers : message.lines)?.(name) ?? [];
  if (lines.length === 0) throw new BadSignature(refuse('component-absent', { name }));
  const field = { values: lines.map((line) => line.replaceAll(/^[\t ]+|(?<![\t ])[\t ]+$/g, '')) };
  fields.set(key, field);
  return field;
}

function dictionaryOf(name: string, field: Field): Dictionary {
  const isKnown = DICTIONARIES.has(name);
  if (isKnown && !('dictionary' in field)) {
    field.dictionary = parseDictionary(field.values.join(', '));
  }
  if (field.dictionary === undefined) {
    throw new BadSignature(refuse('component-no-dictionary', { name }));
  }
  return field.dictionary;
}

/** Returns a member of a Dictionary (section 2.1.2). */
function memberOf(dictionary: Dictionary, key: string): string {
  const member = dictionary.get(key);
  if (member === undefined) throw new BadSignature(refuse('component-no-member', { key }));
  return memberText(member);
}

function refuseOthers(name: string, params: Params, known: (param: string) => boolean): void {
  const other = [...params.keys()].find((param) => !known(param));
  if (other !== undefined)
    throw new BadSignature(refuse('component-param', { name, param: other }));
}

function stringParam(params: Params, key: string): string {
  const param: BareItem | undefined = params.get(key);
  if (param?.type !== 'string')
    throw new BadSignature(refuse('component-param-type', { param: key }));
  return param.value;
}

/** Returns the signature parameters as in the last line of a signature base (section 2.3). */
export const signatureParams = (identifiers: readonly Identifier[], params: Params): string =>
  `(${identifiers.map(identifierText).join(' ')})${paramsText(params)}`;
