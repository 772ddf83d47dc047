import cluster from 'node:cluster';

/**
 * The number of workers, as shared/start has read it; empty counts as absent. It is no setting that could be passed
 * in: a process knows from its birth which worker it is, like its pid, and bounds of whole modules follow from it.
 */
const { COUNTERSIGN_WORKERS: told = '', COUNTERSIGN_WORKER: number } = process.env;

/** Whether shared/start runs this process, and has not been told yet whether there are to be several. */
export const UNTOLD = cluster.isWorker && told === '';

/** The number of processes that run this server. Limits for one account or address hold for all of them together. */
export const WORKERS = cluster.isWorker && told !== '' ? Number(told) : 1;

/** The number of this process among them, from 1. */
export const WORKER = WORKERS === 1 ? 1 : Number(number);

/** Returns the part of one worker of a limit for all of them together; at least one. */
export const portion = (all: number) => Math.max(1, Math.floor(all / WORKERS));
