import cluster from 'node:cluster';

/**
 * The number of workers, as shared/start sets it; empty means absent. It is read here, not passed as a setting: a
 * process knows from its start which worker it is, and limits of whole modules depend on it.
 */
const { COUNTERSIGN_WORKERS: told = '', COUNTERSIGN_WORKER: number } = process.env;

/** True if shared/start runs this process, and has not yet said how many workers there will be. */
export const UNTOLD = cluster.isWorker && told === '';

/** The number of processes that run this server. Limits for one account or address apply to all of them together. */
export const WORKERS = cluster.isWorker && told !== '' ? Number(told) : 1;

/** The number of this worker, from 1. */
export const WORKER = WORKERS === 1 ? 1 : Number(number);

/** Returns the portion of one worker in a limit for all workers; at least one. */
export const portion = (all: number) => Math.max(1, Math.floor(all / WORKERS));
