import { UsageError } from './command.ts';

/** Header fields that the command writes itself, or that would change the framing of the message. */
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
 * Parses `Name: value` (RFC 9110 section 5.1 and 5.5), and returns the name in lower case. `allowed`: a header field of
 * the command that users may set themselves. Throws `UsageError`.
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
