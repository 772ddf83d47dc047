/** The namespace of RFC 4918. */
export const DAV = 'DAV:';

/** The namespace of xml:lang, which no other prefix can have. */
export const XML = 'http://www.w3.org/XML/1998/namespace';

/** The namespace of the declarations of namespaces. */
export const XMLNS = 'http://www.w3.org/2000/xmlns/';

/** An element with what RFC 4918 section 4.3 asks to keep of it: no comments, no instructions. */
export interface XmlElement {
  readonly namespace: string;
  /** Local name. */
  readonly name: string;
  readonly prefix: string;
  /** Without the declarations of namespaces. */
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

/** What holds within an element, said by itself or by one around it. */
export interface XmlScope {
  /** By prefix; that of '' is the default namespace. */
  readonly namespaces: ReadonlyMap<string, string>;
  /** xml:lang */
  readonly language: string | undefined;
}

export function isDav(element: XmlElement, name: string): boolean {
  return element.namespace === DAV && element.name === name;
}

/** The elements in an element. */
export function elementsOf({ children }: XmlElement): readonly XmlElement[] {
  return children.filter((child) => typeof child !== 'string');
}

/** The first element of this name and of namespace `DAV:` in an element. */
export function davChild(element: XmlElement, name: string): XmlElement | undefined {
  return elementsOf(element).find((child) => isDav(child, name));
}
