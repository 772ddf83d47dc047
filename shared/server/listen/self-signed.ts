import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { isIP, isIPv4 } from 'node:net';
import type { Clock } from '#shared/base/clock.ts';
import { der, SEQUENCE } from '#shared/base/der.ts';
import type { Random } from '#shared/base/random.ts';
import type { Certificate } from './versions.ts';

/** Days for which browsers accept a certificate from its owner: 398, less one for clock differences. */
const DAYS = 397;

const OCTET_STRING = 0x04;
const TRUE = Buffer.of(0x01, 1, 0xff);
const NO_CA = der(SEQUENCE);
const DIGITAL_SIGNATURE = bits(Buffer.of(0x80), 7);

const ECDSA_WITH_SHA256 = der(SEQUENCE, oid('2a8648ce3d040302')); // RFC 5758 section 3.2
const COMMON_NAME = oid('550403');
const SUBJECT_KEY_IDENTIFIER = oid('551d0e');
const KEY_USAGE = oid('551d0f');
const SUBJECT_ALTERNATIVE_NAME = oid('551d11');
const BASIC_CONSTRAINTS = oid('551d13');
const EXTENDED_KEY_USAGE = oid('551d25');
const SERVER_AUTHENTICATION = oid('2b06010505070301');

/**
 * Makes a new key on P-256 and its self-signed certificate (RFC 5280), for a server with these DNS names and
 * addresses. ::1 is the only supported IPv6 address. The certificate is no authority: a client that trusts it trusts
 * only this server.
 */
export function selfSigned(names: readonly string[], clock: Clock, random: Random): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subjectPublicKey = publicKey.export({ type: 'spki', format: 'der' });
  const serial = random(15);
  // The name is unique, since OpenSSL reads only the first of two trusted certificates with the same name.
  const common = `Countersign (development) ${serial.toString('hex', 0, 4)}`;
  const name = der(SEQUENCE, der(0x31, der(SEQUENCE, COMMON_NAME, der(0x0c, Buffer.from(common)))));
  const now = clock.now();
  const extensions = [
    der(SEQUENCE, SUBJECT_ALTERNATIVE_NAME, octets(der(SEQUENCE, ...names.map(generalName)))),
    der(SEQUENCE, BASIC_CONSTRAINTS, TRUE, octets(NO_CA)),
    der(SEQUENCE, KEY_USAGE, TRUE, octets(DIGITAL_SIGNATURE)),
    der(SEQUENCE, EXTENDED_KEY_USAGE, octets(der(SEQUENCE, SERVER_AUTHENTICATION))),
    der(SEQUENCE, SUBJECT_KEY_IDENTIFIER, octets(octets(sha256(subjectPublicKey)))),
  ];
  const toBeSigned = der(
    SEQUENCE,
    der(0xa0, der(0x02, Buffer.of(2))), // version 3
    der(0x02, Buffer.concat([Buffer.of(0x40), serial])), // a positive serial number
    ECDSA_WITH_SHA256,
    name,
    der(SEQUENCE, time(now), time(now + DAYS * 86_400_000)),
    name,
    subjectPublicKey,
    der(0xa3, der(SEQUENCE, ...extensions)),
  );
  const signature = bits(sign('sha256', toBeSigned, privateKey), 0);
  const whole = der(SEQUENCE, toBeSigned, ECDSA_WITH_SHA256, signature);
  const lines = whole.toString('base64').replaceAll(/.{64}(?=.)/g, '$&\n');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
}

/** RFC 5280 section 4.2.1.6. */
function generalName(name: string): Buffer {
  if (isIP(name) === 0) return der(0x82, Buffer.from(name, 'latin1'));
  const address = isIPv4(name) ? name.split('.').map(Number) : [...Buffer.alloc(15), 1];
  return der(0x87, Buffer.from(address));
}

/** RFC 5280 section 4.1.2.5: two digits of the year until 2049, then four. */
function time(milliseconds: number): Buffer {
  const digits = new Date(milliseconds).toISOString().replaceAll(/\.[0-9]+|[^0-9Z]/g, '');
  return digits < '2050' ? der(0x17, Buffer.from(digits.slice(2))) : der(0x18, Buffer.from(digits));
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function octets(content: Buffer): Buffer {
  return der(OCTET_STRING, content);
}

function bits(content: Buffer, unused: number): Buffer {
  return der(0x03, Buffer.of(unused), content);
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest().subarray(0, 20);
}
