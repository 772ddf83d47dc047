import type { Command } from '../arguments/command.ts';
import { withStores } from '../stores/with-stores.ts';

export const revocationStatus: Command = {
  name: 'revocation status',
  store: 'opens',
  summary: 'show the revocation feed as a resource server that starts now would read it',
  run: (_, shell) =>
    withStores(shell, async ({ revocations }) => {
      await using feed = await revocations.feed();
      const status = feed.status();
      return {
        json: status,
        lines: [
          `entries: ${status.entries}`,
          `position: ${status.cursor}`,
          `epoch: ${status.epoch ?? 'none: no authorization server has started on this store yet'}`,
          `trusted: ${status.trusted ? 'yes' : 'no: resource servers answer 503'}`,
        ],
        failed: !status.trusted,
      };
    }),
};
