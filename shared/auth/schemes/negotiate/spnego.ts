import { elementContent, membersOf, readElements, SEQUENCE } from '#shared/base/der.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/schemes.ts';

/** The parts of a client's message that are checked before GSS sees it. */
export interface ClientToken {
  /** True if the message opens a handshake; any other message is valid only within a handshake. */
  readonly first: boolean;
  /**
   * The encrypted Authenticator of the Kerberos request (RFC 4120 section 5.5.1). It differs for every request, and
   * stays the same if an attacker wraps the request in another message.
   */
  readonly authenticator?: Buffer;
}

const SPNEGO = Buffer.from('2b0601050502', 'hex'); // 1.3.6.1.5.5.2
const KERBEROS = Buffer.from('2a864886f712010202', 'hex'); // 1.2.840.113554.1.2.2
const KERBEROS_OF_WINDOWS = Buffer.from('2a864882f712010202', 'hex'); // 1.2.840.48018.1.2.2
const NTLM = Buffer.from('2b06010401823702020a', 'hex'); // 1.3.6.1.4.1.311.2.2.10
const NTLM_SIGNATURE = Buffer.from('NTLMSSP\0');

/** Returns the first bytes of a token of that mechanism (RFC 2743 section 3.1). */
const framed = (mechanism: Buffer) => Buffer.concat([Buffer.of(0x06, mechanism.length), mechanism]);
/** RFC 4121 section 4.1. */
const AP_REQ = Buffer.concat([framed(KERBEROS), Buffer.of(1, 0)]);

/** RFC 2743 section 3.1, [APPLICATION 0]. */
const INITIAL_TOKEN = 0x60;
/** RFC 4120 section 5.5.1, [APPLICATION 14]. */
const KERBEROS_REQUEST = 0x6e;
const OCTET_STRING = 0x04;
const context = (number: number) => 0xa0 + number;

const after = (prefix: Buffer, bytes: Buffer) =>
  bytes.subarray(0, prefix.length).equals(prefix) ? bytes.subarray(prefix.length) : undefined;

/** Decodes a token68 if it is canonical base64 (RFC 4648 section 4). */
function decode(token68: string): Buffer | undefined {
  const bytes = Buffer.from(token68, 'base64');
  return bytes.toString('base64') === token68 ? bytes : undefined;
}

const UNREAD = { ntlm: 'negotiate-ntlm', unknown: 'negotiate-mechanism' } as const;

/** Reads the message in a client's credentials, or returns the reason for which GSS does not get it. */
export function readToken(
  token68: string | undefined,
): (ClientToken & { readonly bytes: Buffer }) | Refusal {
  const bytes = token68 === undefined ? undefined : decode(token68);
  if (bytes === undefined) return refuse('negotiate-form');
  const read = readClientToken(bytes);
  return typeof read === 'string' ? refuse(UNREAD[read]) : { ...read, bytes };
}

/**
 * Reads a client's message: SPNEGO (RFC 4178 section 4.2) with Kerberos inside, or Kerberos alone (RFC 4121 section
 * 4.1), which some clients send. Returns `ntlm` if the client asks for NTLM and cannot use Kerberos. Returns
 * `unknown` for anything else, such as truncated bytes.
 */
export function readClientToken(bytes: Buffer): ClientToken | 'ntlm' | 'unknown' {
  if (after(NTLM_SIGNATURE, bytes) !== undefined) return 'ntlm';
  const response = elementContent(bytes, context(1));
  if (response !== undefined) {
    const members = membersOf(response);
    if (members === undefined) return 'unknown';
    return token(false, elementContent(members.get(context(2)), OCTET_STRING));
  }
  const initial = elementContent(bytes, INITIAL_TOKEN);
  if (initial === undefined) return 'unknown';
  if (after(framed(KERBEROS), initial) !== undefined) return token(true, bytes);
  const inner = after(framed(SPNEGO), initial);
  return inner === undefined ? 'unknown' : readNegTokenInit(inner);
}

function readNegTokenInit(inner: Buffer): ClientToken | 'ntlm' | 'unknown' {
  const members = membersOf(elementContent(inner, context(0)));
  const mechanisms = mechanismsOf(members?.get(context(0)));
  if (members === undefined || mechanisms === undefined) return 'unknown';
  const isKerberos = (one: Buffer) => one.equals(KERBEROS) || one.equals(KERBEROS_OF_WINDOWS);
  if (!mechanisms.some(isKerberos)) {
    return mechanisms.some((one) => one.equals(NTLM)) ? 'ntlm' : 'unknown';
  }
  // The first message may carry a token only for the mechanism that the client prefers.
  const [best] = mechanisms;
  const optimistic = elementContent(members.get(context(2)), OCTET_STRING);
  return token(true, best && isKerberos(best) ? optimistic : undefined);
}

/** Returns the client's mechanisms in its order, as the contents of their object identifiers. */
function mechanismsOf(list: Buffer | undefined): Buffer[] | undefined {
  const content = elementContent(list, SEQUENCE);
  const elements = content && readElements(content);
  return elements?.map((element) => element.content);
}

function token(first: boolean, mechanismToken: Buffer | undefined): ClientToken {
  const authenticator = mechanismToken && authenticatorOf(mechanismToken);
  return { first, ...(authenticator && { authenticator }) };
}

/**
 * Returns the authenticator of a request, with or without its GSS frame; a handshake of three messages has no frame
 * (MS-KILE section 3.4.5.1).
 */
function authenticatorOf(mechanismToken: Buffer): Buffer | undefined {
  const initial = elementContent(mechanismToken, INITIAL_TOKEN);
  const request = initial === undefined ? mechanismToken : after(AP_REQ, initial);
  const members = membersOf(elementContent(request, KERBEROS_REQUEST));
  const encrypted = membersOf(members?.get(context(4)));
  return elementContent(encrypted?.get(context(2)), OCTET_STRING);
}
