import { opendir, rm, writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '#shared/base/clock.ts';
import type { Log } from '#shared/base/log.ts';
import { freeRoomLater, LEAST_ROOM } from '#shared/base/free-room.ts';
import { isOutOfRoom } from '#shared/base/out-of-room.ts';
import type { Need } from '#shared/stores/outage/need.ts';
import { isBeingCopied } from '#shared/stores/backup/being-copied.ts';
import { Outage } from '#shared/stores/outage/outage.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { diskFull } from './content-errors.ts';

type Doing = 'reading' | 'writing';

const { EACCES, EIO, ENODEV, ENOSPC, ENXIO, EPERM, EROFS, ESTALE, ETIMEDOUT } = constants.errno;
const OF_DISK: ReadonlySet<number> = new Set([
  EACCES,
  EIO,
  ENODEV,
  ENXIO,
  EPERM,
  EROFS,
  ESTALE,
  ETIMEDOUT,
]);

/**
 * The disk with the content files. Errors of the disk are answered 503 like those of the store, and appear in log and
 * readiness. A full disk is answered 507 (RFC 4918 section 11.5).
 */
export class ContentDisk {
  readonly #folder: string;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #outages: Readonly<Record<Doing, Outage>>;

  constructor(folder: string, log: Log, clock: Pick<Clock, 'now' | 'monotonic'>) {
    this.#folder = folder;
    this.#clock = clock;
    const outage = (doing: Doing) => new Outage(`content, ${doing}`, log, () => clock.monotonic());
    this.#outages = { reading: outage('reading'), writing: outage('writing') };
  }

  /** Runs `work`, whose only errors are those of files. */
  async attempt<T>(doing: Doing, work: () => Promise<T>): Promise<T> {
    try {
      const result = await work();
      this.#outages[doing].worked();
      return result;
    } catch (error) {
      const { errno = 0, message } = error as NodeJS.ErrnoException;
      const isFull = isOutOfRoom(error);
      if (!isFull && !OF_DISK.has(-errno)) throw error;
      this.#outages[doing].failed(message);
      if (isFull) throw diskFull();
      throw new StoreUnavailable(`content: ${message}`, {
        cause: error,
        refused: doing === 'writing',
      });
    }
  }

  /** Whether a running backup may still copy files that no row names. */
  isBeingCopied(): Promise<boolean> {
    return isBeingCopied(this.#folder, this.#clock.now());
  }

  /**
   * Rejects as a full disk does if there is no room for new content. Rejects with 507 if there is none for `bytes`
   * more.
   */
  async demandRoom(bytes = 0): Promise<void> {
    const free = await freeRoomLater(this.#folder);
    if (free < LEAST_ROOM) {
      const reason = `the disk is full: ${free} bytes are free`;
      throw Object.assign(new Error(reason), { errno: -ENOSPC });
    }
    // A single document that is too long does not mean that the disk is full.
    if (free - bytes < LEAST_ROOM) throw diskFull();
  }

  /**
   * Rejects if the disk failed in the last seconds. During an outage it tries the disk itself, so that recovery needs
   * no request.
   */
  async check(need: Need): Promise<void> {
    const tries: Readonly<Record<Doing, () => Promise<void>>> = {
      reading: async () => (await opendir(this.#folder)).close(),
      writing: async () => {
        await this.demandRoom();
        await writeAndRemove(join(this.#folder, '.probe'));
      },
    };
    for (const doing of need === 'all'
      ? (['reading', 'writing'] as const)
      : (['reading'] as const)) {
      if (!this.#outages[doing].isFailing) continue;
      await this.attempt(doing, tries[doing]);
      this.#outages[doing].check();
    }
  }
}

async function writeAndRemove(file: string): Promise<void> {
  await writeFile(file, '1', { mode: 0o600 });
  await rm(file, { force: true });
}
