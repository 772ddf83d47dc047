/**
 * A JSON value (RFC 8259) from which nothing is lost: members keep their order, and no name of a member
 * is special, `__proto__` included.
 */
export type Json = null | boolean | number | NumberText | string | Json[] | Map<string, Json>;

/** A number as it was written, where a double would not be written so: 1.0, 9007199254740993, 1e400. */
export class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Whether two values are equal (RFC 6902 section 4.6): numbers by value, members in any order. */
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
  if (isNumber(one) && isNumber(other)) return decimal(one) === decimal(other);
  return one === other;
}

function equalTo(one: Json, other: Json | undefined): boolean {
  return other !== undefined && equal(one, other);
}

function isNumber(value: Json): value is number | NumberText {
  return typeof value === 'number' || value instanceof NumberText;
}

const NUMBER = /^(?<sign>-?)(?<whole>\d+)(?:\.(?<part>\d+))?(?:[eE](?<exponent>[+-]?\d+))?$/;

/** The one way to write a number: its digits as a whole number without zeros at either end, and an exponent. */
function decimal(number: number | NumberText): string {
  const text = typeof number === 'number' ? `${number}` : number.text;
  const { sign = '', whole = '', part = '', exponent = '0' } = NUMBER.exec(text)?.groups ?? {};
  const digits = `${whole}${part}`.replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  if (kept === '') return '0';
  const power = BigInt(exponent) - BigInt(part.length) + BigInt(digits.length - kept.length);
  return `${sign}${kept}e${power}`;
}
