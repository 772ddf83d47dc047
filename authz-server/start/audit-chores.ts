import { closeOpen, recordCounts } from '#shared/audit/close.ts';
import { macKey } from '#shared/audit/mac.ts';
import { MOST_REFUSALS } from '#shared/audit/recorder.ts';
import { endOld } from '#shared/audit/retention.ts';
import type { Chore } from '#shared/server/chore.ts';
import type { PagesServer } from '../base/server.ts';
import type { Parts } from '#shared/server/process.ts';

/**
 * Closes the audit log each second, and removes entries that are older than the retention time. Any number of processes
 * may do both.
 */
export function auditChores({
  stores: { audit },
  master,
  clock,
  config,
}: Pick<Parts, 'stores' | 'master' | 'clock' | 'config'>): readonly Chore[] {
  const closing = { audit, key: macKey(master), clock };
  return [
    {
      name: 'audit',
      seconds: 1,
      async run() {
        if (await audit.takeTurn()) await closeOpen(closing);
      },
    },
    {
      name: 'audit retention',
      seconds: 60,
      async run() {
        await recordCounts(closing, MOST_REFUSALS);
        await endOld(closing, config.audit.keep);
      },
    },
  ];
}

/** Records how many tokens applications got in their own name. Each process counts its own. */
export const ownTokensChore = ({
  recorder,
  clock,
}: Pick<PagesServer, 'recorder' | 'clock'>): Chore => ({
  name: 'audit counts',
  seconds: 10,
  run: () => recorder.tellOwnTokens(clock.now()),
});
