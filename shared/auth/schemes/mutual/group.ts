/**
 * A group of RFC 8121 section 3, written as a group of points; in a finite field `times` is the power and `add` the
 * product. Results that equal the neutral element are undefined, since the protocol does not use it.
 */
export interface Group<Element> {
  /** r: the order of the generator. */
  readonly order: bigint;
  /**
   * Decodes an element. Returns undefined for a wrong length, for the neutral element, and for a value outside the
   * group.
   */
  decode(octets: Buffer): Element | undefined;
  /** Returns the OCTETS of an element's number. */
  encode(element: Element): Buffer;
  /** Returns a multiple of the generator. */
  multiple(scalar: bigint): Element | undefined;
  /** Returns a function that multiplies by a scalar; undefined for multiples of the order. */
  times(scalar: bigint): ((element: Element) => Element | undefined) | undefined;
  add(one: Element, other: Element): Element | undefined;
}
