/**
 * A JSON value (RFC 8259) without loss: members keep their order, and no member name is special, not even
 * `__proto__`.
 */
export type Json = null | boolean | number | NumberText | string | Json[] | Map<string, Json>;

/** A number in its original notation, if a double would be written differently: 1.0, 9007199254740993, 1e400. */
export class NumberText {
  readonly text: string;
  #decimal: string | undefined;

  constructor(text: string) {
    this.text = text;
  }

  /**
   * A canonical form that is the same for all numbers of equal value. Computed once, since a patch may compare a number
   * a thousand times.
   */
  get decimal(): string {
    this.#decimal ??= decimal(this.text);
    return this.#decimal;
  }
}

/** True if two values are equal (RFC 6902 section 4.6): numbers by value, members in any order. */
export function equal(one: Json, other: Json): boolean {
  if (Array.isArray(one)) {
    return (
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((value, index) => equalTo(value, other[index]))
    );
  }
  if (one instanceof Map) {
    return (
      other instanceof Map &&
      one.size === other.size &&
      [...one].every(([name, value]) => equalTo(value, other.get(name)))
    );
  }
  if (one instanceof NumberText) return one.decimal === decimalOf(other);
  if (other instanceof NumberText) return other.decimal === decimalOf(one);
  return one === other;
}

function equalTo(one: Json, other: Json | undefined): boolean {
  return other !== undefined && equal(one, other);
}

/** Returns undefined if the value is not a number. */
function decimalOf(value: Json): string | undefined {
  if (value instanceof NumberText) return value.decimal;
  return typeof value === 'number' ? decimal(`${value}`) : undefined;
}

const NUMBER = /^(?<sign>-?)(?<whole>\d+)(?:\.(?<part>\d+))?(?:[eE](?<exponent>[+-]?\d+))?$/;

/** The canonical form of a number: an integer without zeros at either end, and an exponent. */
function decimal(text: string): string {
  const { sign = '', whole = '', part = '', exponent = '0' } = NUMBER.exec(text)?.groups ?? {};
  const digits = `${whole}${part}`;
  let first = 0;
  let end = digits.length;
  while (digits[first] === '0') first += 1;
  while (end > first && digits[end - 1] === '0') end -= 1;
  if (first === end) return '0';
  const power = BigInt(exponent) + BigInt(digits.length - end - part.length);
  return `${sign}${digits.slice(first, end)}e${power}`;
}
