import type { Spent } from '#shared/stores/limits/limits.ts';
import type { PagesServer } from '../../base/server.ts';

type Paid =
  | Extract<Spent, { ok: false }>
  | {
      readonly ok: true;
      /** After a right code. */
      giveBack(): Promise<void>;
    };

/** Pays for a code that somebody tries for a person, whatever browser it comes from (RFC 4226 section 7.3). */
export async function payForCode(
  { stores: { limits }, config }: Pick<PagesServer, 'stores' | 'config'>,
  accountId: string,
): Promise<Paid> {
  const bucket = ['second-factor', accountId, config.limits.secondFactor] as const;
  const spent = await limits.spend(...bucket);
  return spent.ok ? { ok: true, giveBack: () => limits.giveBack(...bucket) } : spent;
}
