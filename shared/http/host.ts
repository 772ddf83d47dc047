import { isIPv6 } from 'node:net';

const REG_NAME = /^(?:[a-z0-9._~!$&'()*+,;=-]|%[0-9a-f]{2})+$/i;
const PORT = /^[0-9]{0,5}$/;

/**
 * Returns whether a text is `uri-host [ ":" port ]` (RFC 9110 section 7.2) with a host that is not empty (section
 * 4.2.1).
 */
export function isHost(value: string): boolean {
  const [, literal, name, port = ''] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(.*))?$/.exec(value) ?? [];
  if (!PORT.test(port) || Number(port) > 65_535) return false;
  if (literal !== undefined) return isIPv6(literal) && !literal.includes('%');
  return name !== undefined && REG_NAME.test(name);
}
