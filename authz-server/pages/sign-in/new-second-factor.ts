import { base32 } from '#shared/people/second-factor/base32.ts';
import { otpauthUri } from '#shared/people/second-factor/otpauth-uri.ts';
import type { PagesServer } from '../../base/server.ts';
import { otherWays } from './other-ways.ts';
import type { NewSecondFactor } from '../views/second-factor-fields.ts';

/** A second factor that a page shows. */
interface Begun {
  readonly accountId: string;
  /** The name with which the person signs in. */
  readonly name: string;
  /** In base64url. */
  readonly secret: string;
}

/**
 * Returns a new secret as a page shows it (QR code and base32), and the other ways to sign in, of which the last form
 * had `ticked`.
 */
export async function newSecondFactor(
  server: Pick<PagesServer, 'config' | 'stores'>,
  { accountId, name, secret }: Begun,
  ticked: readonly string[] = [],
): Promise<NewSecondFactor> {
  const octets = Buffer.from(secret, 'base64url');
  const ways = (await otherWays(server, accountId)).map(({ item, kind, name: own, since }) => ({
    item,
    kind,
    name: own,
    since,
    isTicked: ticked.includes(item),
  }));
  return { uri: otpauthUri(octets, name, server.config.brand.name), secret: base32(octets), ways };
}
