/** Makes tokens in the format of real clients, without the cryptography. */
import { der } from '#shared/base/der.ts';

const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
export const SPNEGO = oid('2b0601050502');
export const KERBEROS = oid('2a864886f712010202');
export const KERBEROS_OF_WINDOWS = oid('2a864882f712010202');
export const NTLM = oid('2b06010401823702020a');
export const IAKERB = oid('2b0601050205');

export const NTLM_MESSAGE = Buffer.from('NTLMSSP\0\u0001\0\0\0');

/** Returns an AP-REQ of RFC 4120 section 5.5.1 with a dummy ticket. */
export function apReq(authenticator: Buffer | string): Buffer {
  const integer = (value: number) => der(0x02, Buffer.of(value));
  const cipher = der(0x04, Buffer.from(authenticator));
  return der(
    0x6e,
    der(
      0x30,
      der(0xa0, integer(5)),
      der(0xa1, integer(14)),
      der(0xa2, der(0x03, Buffer.alloc(5))),
      der(0xa3, der(0x61, der(0x30, der(0xa0, integer(5))))),
      der(0xa4, der(0x30, der(0xa0, integer(18)), der(0xa2, cipher))),
    ),
  );
}

/** Returns a Kerberos token in the GSS frame (RFC 4121 section 4.1). */
export const kerberosToken = (authenticator: Buffer | string, id = Buffer.of(1, 0)) =>
  der(0x60, KERBEROS, id, apReq(authenticator));

/** Returns a NegTokenInit (RFC 4178 section 4.2.1) in the GSS frame. */
export function negTokenInit(mechanisms: readonly Buffer[], mechanismToken?: Buffer): Buffer {
  const token = mechanismToken ? [der(0xa2, der(0x04, mechanismToken))] : [];
  const list = der(0xa0, der(0x30, ...mechanisms));
  return der(0x60, SPNEGO, der(0xa0, der(0x30, list, ...token)));
}

/** Returns a NegTokenResp (RFC 4178 section 4.2.2) as a client sends it. */
export function negTokenResp(responseToken?: Buffer): Buffer {
  const token = responseToken ? [der(0xa2, der(0x04, responseToken))] : [];
  return der(0xa1, der(0x30, der(0xa0, der(0x0a, Buffer.of(1))), ...token));
}
