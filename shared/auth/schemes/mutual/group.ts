/**
 * A group of RFC 8121 section 3, written as one of points: `times` is the power and `add` the product in a finite
 * field. What has no place in the protocol is undefined: the neutral element, and multiples that are it.
 */
export interface Group<Element> {
  /** r: the order of the generator. */
  readonly order: bigint;
  /** Undefined for what is no element, or the neutral one, or of another length. */
  decode(octets: Buffer): Element | undefined;
  /** OCTETS of the number that stands for an element. */
  encode(element: Element): Buffer;
  /** Of the generator. */
  multiple(scalar: bigint): Element | undefined;
  /** Multiplies by a scalar; undefined for multiples of the order. */
  times(scalar: bigint): ((element: Element) => Element | undefined) | undefined;
  add(one: Element, other: Element): Element | undefined;
}
