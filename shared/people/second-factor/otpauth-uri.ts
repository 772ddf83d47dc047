import { base32 } from './base32.ts';

/**
 * Returns the URI by which an authenticator app imports a secret. Apps agree on this form of the Google Authenticator
 * wiki, and on its defaults: SHA-1, six digits, 30 seconds.
 */
export function otpauthUri(secret: Buffer, name: string, issuer: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(name)}`;
  return `otpauth://totp/${label}?secret=${base32(secret)}&issuer=${encodeURIComponent(issuer)}`;
}
