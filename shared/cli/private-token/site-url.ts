import { type Input, UsageError } from '../arguments/command.ts';
import { parseSafeUrl } from '../oauth/http.ts';

/** The operand of a command, a URL that a token may be sent to. Throws `UsageError`. */
export function siteUrl({ operands: [text = ''] }: Input): string {
  const url = parseSafeUrl(text);
  if (url !== undefined) return url.href;
  throw new UsageError('URL must be https, or http on this machine, without user and fragment');
}
