import { UsageError } from './command.ts';

/** Fields that the command writes itself, or that would change where the message ends. */
const OWN = new Set([
  'authorization',
  'dpop',
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'keep-alive',
]);

/**
 * `Name: value` (RFC 9110 section 5.1 and 5.5), the name in lower case. `allowed`: a field that the command leaves to
 * its user. Throws `UsageError`.
 */
export function parseField(text: string, allowed?: string): readonly [name: string, value: string] {
  const [, name = '', value = ''] =
    /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*((?:[!-~\x80-\xff](?:[ \t!-~\x80-\xff]*[!-~\x80-\xff])?)?)[ \t]*$/.exec(
      text,
    ) ?? [];
  if (name === '')
    throw new UsageError(`--header must be "Name: value", not ${JSON.stringify(text)}`);
  const lower = name.toLowerCase();
  if (OWN.has(lower) && lower !== allowed)
    throw new UsageError(`--header ${name}: the command sets it`);
  return [lower, value];
}
