import type { BareItem, Dictionary, Member, Params } from './structured-fields.ts';

/**
 * Serializes structured fields (RFC 9651 section 4.1). Every value that `parseDictionary` has read can be serialized.
 */

/** Serializes an item or an inner list with its parameters (sections 4.1.1.1 and 4.1.3). */
export function memberText(member: Member): string {
  const value =
    member.type === 'inner-list'
      ? `(${member.value.map(memberText).join(' ')})`
      : bareItemText(member);
  return value + paramsText(member.params);
}

/** Serializes parameters (section 4.1.1.2). A parameter that is true has no value. */
export function paramsText(params: Params): string {
  return [...params].map(([key, value]) => `;${key}${valueText(value)}`).join('');
}

/** Section 4.1.2. */
export function dictionaryText(members: Dictionary): string {
  return [...members]
    .map(([key, member]) =>
      isTrue(member) ? key + paramsText(member.params) : `${key}=${memberText(member)}`,
    )
    .join(', ');
}

const valueText = (item: BareItem) => (isTrue(item) ? '' : `=${bareItemText(item)}`);
const isTrue = ({ type, value }: BareItem | Member) => type === 'boolean' && value;

function bareItemText(item: BareItem): string {
  const { type, value } = item;
  if (type === 'bytes') return `:${value.toString('base64')}:`;
  if (type === 'boolean') return value ? '?1' : '?0';
  if (type === 'string') return `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
  if (type === 'date') return `@${value}`;
  if (type === 'display-string') return `%"${escaped(value)}"`;
  // A decimal has one to three digits after the point (section 4.1.5).
  return type === 'decimal' ? value.toFixed(3).replace(/0{1,2}$/, '') : `${value}`;
}

/** Writes the octets of UTF-8, escaping all except visible ASCII (section 4.1.11). */
const escaped = (text: string) =>
  Buffer.from(text)
    .toString('latin1')
    .replaceAll(/[^ !#$&-~]/g, (octet) => `%${octet.charCodeAt(0).toString(16).padStart(2, '0')}`);
