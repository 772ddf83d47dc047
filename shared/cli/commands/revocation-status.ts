import { showRevocationStatus } from '#shared/operations/tokens/revocation-status.ts';
import { commandOf } from '../stores/of-operation.ts';

export const revocationStatus = commandOf(showRevocationStatus, {
  lines: ({ entries, cursor, epoch, trusted }) => [
    `entries: ${entries}`,
    `position: ${cursor}`,
    `epoch: ${epoch ?? 'none: no authorization server has started on this store yet'}`,
    `trusted: ${trusted ? 'yes' : 'no: resource servers answer 503'}`,
  ],
  failed: ({ trusted }) => !trusted,
});
