import { DAV, XML, type XmlElement, type XmlScope } from './xml-element.ts';

const NOTHING: XmlScope = { namespaces: new Map(), language: undefined };

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  // A parser would turn these characters into spaces or line feeds.
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

/** Escapes text for the content of an element. */
export function escapeText(text: string): string {
  return text.replace(/[&<>\r]/g, (character) => ESCAPES[character] ?? '');
}

function attribute(name: string, value: string): string {
  return ` ${name}="${value.replace(/[&<>"\t\n\r]/g, (character) => ESCAPES[character] ?? '')}"`;
}

/**
 * Returns an element of namespace `DAV:` around markup. It has the prefix of `davDocument`, the only one that
 * Windows reads.
 */
export function dav(name: string, ...content: readonly string[]): string {
  const markup = content.length === 1 ? content[0] : content.join('');
  return markup === '' ? `<D:${name}/>` : `<D:${name}>${markup}</D:${name}>`;
}

/** Returns DAV:href with a URI reference. */
export function davHref(href: string): string {
  return dav('href', escapeText(href));
}

/** Returns the start of a document whose root is an element of namespace `DAV:`. */
export function davRoot(name: string): string {
  return `<?xml version="1.0" encoding="utf-8"?>\n<D:${name} xmlns:D="${DAV}">`;
}

/** Returns a complete document around markup. */
export function davDocument(name: string, ...content: readonly string[]): string {
  return `${davRoot(name)}${content.join('')}</D:${name}>`;
}

/** Returns an element without content, with any name that a parser accepted. */
export function emptyElement({ namespace, name }: Pick<XmlElement, 'namespace' | 'name'>): string {
  if (namespace === DAV) return dav(name);
  if (namespace === XML) return `<xml:${name}/>`;
  return namespace === '' ? `<${name}/>` : `<P:${name}${attribute('xmlns:P', namespace)}/>`;
}

/**
 * Returns the markup of a parsed element. The markup keeps prefixes, namespaces and language, so its meaning is the
 * same at any place (RFC 4918 section 4.3).
 */
export function writeXml(element: XmlElement, around = NOTHING): string {
  const { name, prefix, attributes, children, scope } = element;
  const tag = qualified(prefix, name);
  const said = attributes.map((one) => attribute(qualified(one.prefix, one.name), one.value));
  const content = children.map((child) =>
    typeof child === 'string' ? escapeText(child) : writeXml(child, scope),
  );
  const start = [tag, ...declarations(element, around), ...said].join('');
  return content.length === 0 ? `<${start}/>` : `<${start}>${content.join('')}</${tag}>`;
}

const qualified = (prefix: string, name: string) => (prefix === '' ? name : `${prefix}:${name}`);

/** The declarations in force in an element but not around it. The language is included only for the whole value. */
function declarations({ scope, attributes }: XmlElement, around: XmlScope): string[] {
  if (scope === around) return [];
  const declared: string[] = [];
  for (const [prefix, uri] of scope.namespaces) {
    if (prefix !== 'xml' && (around.namespaces.get(prefix) ?? '') !== uri) {
      declared.push(attribute(prefix === '' ? 'xmlns' : `xmlns:${prefix}`, uri));
    }
  }
  const says = attributes.some(({ prefix, name }) => prefix === 'xml' && name === 'lang');
  if (scope.language !== around.language && !says) {
    declared.push(attribute('xml:lang', scope.language ?? ''));
  }
  return declared;
}
