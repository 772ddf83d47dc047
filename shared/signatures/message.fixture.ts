import { parseUniqueDictionary } from '#shared/http/structured-fields.ts';
import type { Identifier } from './component.ts';
import type { SignedMessage } from './message.ts';
import { signatureFields, type Signing } from './signed-request.ts';

type Value = string | readonly string[];

/** Returns the `lines` of a message with these fields; a list means a field of several lines. */
export function withFields(fields: Readonly<Record<string, Value>>) {
  const byName = new Map(
    Object.entries(fields).map(([name, value]) => [name.toLowerCase(), [value].flat()]),
  );
  return { lines: (name: string) => byName.get(name) ?? [] };
}

/** Reads an inner list with its parameters, written as in Signature-Input. */
export function input(text: string): Pick<Signing, 'identifiers' | 'params'> {
  const member = parseUniqueDictionary(`sig=${text}`)?.get('sig');
  if (member?.type !== 'inner-list') throw new Error(`${text} is no inner list`);
  return { identifiers: member.value as readonly Identifier[], params: member.params };
}

/** Signs a message as its own Signature-Input with that label requires. */
export function sign(message: SignedMessage, signing: Pick<Signing, 'alg' | 'key' | 'label'>) {
  const [line = ''] = message.lines('signature-input');
  return signatureFields(message, { ...signing, ...input(line.slice(line.indexOf('=') + 1)) });
}
