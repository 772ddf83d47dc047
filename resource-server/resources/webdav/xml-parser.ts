import { SaxesParser, type SaxesTagNS } from 'saxes';
import { BadRequest } from '#shared/http/fields.ts';
import { davError } from './dav-error.ts';
import { XMLNS } from './xml-element.ts';
import type { XmlElement, XmlScope } from './xml-element.ts';
import { NC_NAME } from './xml-name.ts';

/** The deepest nesting, far more than any client sends. */
const DEPTH = 50;
const ELEMENTS = 10_000;
/** The most comments, processing instructions and CDATA sections, which may contain `<`, too. */
const MARKS = 1000;
const ATTRIBUTES = 100;
/** The most nested namespace declarations. */
const NAMESPACES = 100;
/** Characters that are parsed without a pause, in about a millisecond. */
export const PARSED_AT_ONCE = 4096;
/** The most characters of a name or of a namespace URI. */
const NAME = 1024;

/**
 * Characters that no URI reference contains (RFC 3986 section 2), and so no namespace (Namespaces in XML 1.0
 * section 2.1). Parsers join namespace and name by such a character, and split at the first one.
 */
const NO_URI = /["<>\\^`{|}\s\p{Cc}]/u;

interface OpenElement extends XmlElement {
  readonly children: (XmlElement | string)[];
}

/**
 * Parses a document, strictly and with namespaces. Throws `BadRequest` if it is not well-formed or exceeds a
 * limit, `HttpError` 403 (no-external-entities) or `BadRequest` if it has a document type declaration (RFC 4918
 * sections 8.2, 16 and 20.6): nothing is ever expanded or fetched.
 */
export function parseXml(text: string): XmlElement {
  const slices = parseSlices(text);
  let slice = slices.next();
  while (slice.done !== true) slice = slices.next();
  return slice.value;
}

/** Parses in slices, between which other requests are served. */
export function* parseSlices(text: string): Generator<void, XmlElement, void> {
  checkTags(text);
  // The parser throws other errors at a lone surrogate.
  if (!text.isWellFormed()) throw new BadRequest('The XML has half a surrogate pair.');
  // XML 1.1 allows control characters, which no answer in XML 1.0 can repeat.
  const parser = new SaxesParser({ xmlns: true, forceXMLVersion: true, defaultXMLVersion: '1.0' });
  const open: OpenElement[] = [];
  let root: XmlElement | undefined;
  let elements = 0;
  let attributes = 0;

  function bound(count: number, most: number, what: string): void {
    if (count > most) throw new BadRequest(`The XML has more than ${most} ${what}.`);
  }
  /** Adds text. Only the parser distinguishes CDATA sections from adjacent text. */
  function add(characters: string): void {
    const children = open.at(-1)?.children;
    const last = children?.at(-1);
    if (typeof last === 'string') children?.splice(-1, 1, last + characters);
    else if (characters !== '') children?.push(characters);
  }

  parser.on('error', () => {
    const { line, column } = parser;
    throw new BadRequest(`The XML is not well-formed at line ${line}, column ${column}.`);
  });
  parser.on('doctype', (declaration) => {
    if (/\b(?:SYSTEM|PUBLIC)\b/.test(declaration)) {
      throw davError(403, 'no-external-entities', 'Send XML without external entities.');
    }
    throw new BadRequest('Send XML without a document type declaration.');
  });
  parser.on('opentagstart', () => {
    attributes = 0;
  });
  parser.on('attribute', () => {
    attributes += 1;
    bound(attributes, ATTRIBUTES, 'attributes on an element');
  });
  parser.on('opentag', (tag) => {
    elements += 1;
    bound(elements, ELEMENTS, 'elements');
    bound(open.length + 1, DEPTH, 'elements within one another');
    const parent = open.at(-1);
    const element = elementOf(tag, parent?.scope);
    bound(element.scope.namespaces.size, NAMESPACES, 'namespaces at a time');
    parent?.children.push(element);
    root ??= element;
    open.push(element);
  });
  parser.on('closetag', () => open.pop());
  parser.on('text', add);
  parser.on('cdata', add);
  for (let start = 0; start < text.length; start += PARSED_AT_ONCE) {
    if (start > 0) yield;
    parser.write(text.slice(start, start + PARSED_AT_ONCE));
  }
  parser.close();
  if (root === undefined) throw new BadRequest('The XML has no element.');
  return root;
}

/** Throws `BadRequest` if there are more tags than the limit on elements allows, before any is parsed. */
function checkTags(text: string): void {
  let tags = 0;
  for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', at + 1)) {
    tags += 1;
    if (tags > 2 * ELEMENTS + MARKS) {
      throw new BadRequest(`The XML has more than ${ELEMENTS} elements.`);
    }
  }
}

function elementOf(tag: SaxesTagNS, around: XmlScope | undefined): OpenElement {
  const said = Object.values(tag.attributes);
  const declared = Object.entries(tag.ns);
  for (const { prefix, local } of [tag, ...said]) {
    checkName(local);
    checkName(prefix);
  }
  for (const [, uri] of declared) checkUri(uri);
  const language = tag.attributes['xml:lang']?.value;
  return {
    namespace: tag.uri,
    name: tag.local,
    prefix: tag.prefix,
    attributes: said
      .filter(({ uri }) => uri !== XMLNS)
      .map(({ uri, local, prefix, value }) => ({ namespace: uri, name: local, prefix, value })),
    children: [],
    scope: {
      namespaces:
        around && declared.length === 0
          ? around.namespaces
          : new Map([...(around?.namespaces ?? []), ...declared]),
      language: language ?? around?.language,
    },
  };
}

/** Checks a name. One part is empty if there is no prefix, and in the declaration of the default namespace. */
function checkName(name: string): void {
  boundName(name);
  if (name !== '' && !NC_NAME.test(name)) {
    throw new BadRequest('A name in the XML has a character that many parsers refuse.');
  }
}

function checkUri(uri: string): void {
  boundName(uri);
  if (NO_URI.test(uri)) throw new BadRequest('A namespace in the XML is no URI reference.');
}

function boundName(name: string): void {
  if (name.length > NAME) {
    throw new BadRequest(`A name or namespace in the XML has more than ${NAME} characters.`);
  }
}
