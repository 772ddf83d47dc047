import type { Config } from '#shared/config/schema.ts';
import { base32 } from '#shared/people/second-factor/base32.ts';
import { otpauthUri } from '#shared/people/second-factor/otpauth-uri.ts';
import type { NewSecondFactor } from '../frame/view.ts';

/** Returns the forms of a secret (in base64url) in which an app can take it over from a page. */
export function newSecondFactor(
  { brand }: Pick<Config, 'brand'>,
  name: string,
  secret: string,
): NewSecondFactor {
  const octets = Buffer.from(secret, 'base64url');
  return { uri: otpauthUri(octets, name, brand.name), secret: base32(octets) };
}
