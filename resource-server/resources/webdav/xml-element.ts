/** The namespace of RFC 4918. */
export const DAV = 'DAV:';

/** The namespace of xml:lang. No other prefix can be bound to it. */
export const XML = 'http://www.w3.org/XML/1998/namespace';

/** The namespace of namespace declarations. */
export const XMLNS = 'http://www.w3.org/2000/xmlns/';

/**
 * An element with everything that RFC 4918 section 4.3 requires to preserve. Comments and processing instructions are
 * dropped.
 */
export interface XmlElement {
  readonly namespace: string;
  /** The local name. */
  readonly name: string;
  readonly prefix: string;
  /** The attributes without namespace declarations. */
  readonly attributes: readonly XmlAttribute[];
  readonly children: readonly (XmlElement | string)[];
  readonly scope: XmlScope;
}

export interface XmlAttribute {
  readonly namespace: string;
  readonly name: string;
  readonly prefix: string;
  readonly value: string;
}

/** The namespaces and the language in force within an element, declared there or further out. */
export interface XmlScope {
  /** Namespaces by prefix; '' is the key of the default namespace. */
  readonly namespaces: ReadonlyMap<string, string>;
  /** The value of xml:lang. */
  readonly language: string | undefined;
}

export function isDav(element: XmlElement, name: string): boolean {
  return element.namespace === DAV && element.name === name;
}

/** The child elements of an element. */
export function elementsOf({ children }: XmlElement): readonly XmlElement[] {
  return children.filter((child) => typeof child !== 'string');
}

/** The first child element with this name and the namespace `DAV:`. */
export function davChild(element: XmlElement, name: string): XmlElement | undefined {
  return elementsOf(element).find((child) => isDav(child, name));
}
