/**
 * A group of RFC 8121 section 3, written as one of points: `times` is the power and `add` the product in a finite
 * field. The neutral element, and multiples equal to it, are undefined, since the protocol does not use them.
 */
export interface Group<Element> {
  /** r: the order of the generator. */
  readonly order: bigint;
  /** Decodes an element. Returns undefined for another length, for the neutral element, and if it is not an element. */
  decode(octets: Buffer): Element | undefined;
  /** Returns the OCTETS of an element's number. */
  encode(element: Element): Buffer;
  /** Returns a multiple of the generator. */
  multiple(scalar: bigint): Element | undefined;
  /** Returns a function that multiplies by a scalar; undefined for multiples of the order. */
  times(scalar: bigint): ((element: Element) => Element | undefined) | undefined;
  add(one: Element, other: Element): Element | undefined;
}
