import { UsageError } from '../arguments/command.ts';
import { parseSafeUrl } from './http.ts';

/** Reads the operands METHOD and URL of a command that sends a request. Throws `UsageError`. */
export function methodAndUrl([method = '', target = '']: readonly string[]) {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(method) || method === 'CONNECT') {
    throw new UsageError(`"${method}" is not a method that can be sent`);
  }
  const url = parseSafeUrl(target)?.href;
  if (url === undefined) {
    throw new UsageError('URL must be https, or http on this machine, without user and fragment');
  }
  return { method, url };
}
