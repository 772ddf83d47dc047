import { counted } from '#shared/base/counted.ts';
import { checkpointText, parseCheckpoint, verifyLog } from '#shared/audit/verify.ts';
import { type Command, Failure, UsageError } from '../arguments/command.ts';
import { openAudit } from '../stores/with-audit.ts';

export const auditVerify: Command = {
  name: 'audit verify',
  store: 'opens',
  summary: 'check that no event was changed, removed, added or moved',
  options: {
    checkpoint: {
      value: 'CHECKPOINT',
      help: 'the output of an earlier verification: also detects a removed end',
    },
  },
  details: [
    'The events are chained by HMAC under the master secret. An attacker with the secret and the store can write them',
    'again, and a removed end leaves a valid chain. So keep the checkpoint that this command prints on another machine,',
    'and give it the next time.',
  ],
  run: async (input, shell) => {
    const text = input.text('checkpoint');
    const checkpoint = text === undefined ? undefined : parseCheckpoint(text);
    if (text !== undefined && checkpoint === undefined) {
      throw new UsageError('--checkpoint must be what an earlier `audit verify` printed');
    }
    await using opened = await openAudit(shell);
    const verified = await verifyLog(opened.audit, opened.key, checkpoint);
    if (!verified.ok) throw new Failure(`the audit log was tampered with: ${verified.reason}`);
    const { rows, ended, damaged } = verified;
    const next = verified.checkpoint && checkpointText(verified.checkpoint);
    if (damaged) {
      throw new Failure(
        `events may be missing before ${damaged.join(', ')}: the store had lost something by then. The ${counted(rows, 'event')} that are there are unchanged. To verify what comes from now on, give --checkpoint ${next}`,
      );
    }
    return {
      json: { rows, checkpoint: next, ...(ended && { ended }) },
      lines: [
        `${counted(rows, 'event')}, unchanged and in order.`,
        ...(ended
          ? ['The link of the checkpoint is older than the log is kept: it was not compared.']
          : []),
        ...(next ? [`checkpoint: ${next}`] : []),
      ],
    };
  },
};
