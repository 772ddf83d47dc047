import { createLockSystem } from '../../resources/webdav/locks.ts';
import type { Checks } from '../recorded.ts';
import { checksInOrder } from './in-order.ts';
import { DOCUMENT_STEPS } from './document-steps.ts';
import { PATH, stateBefore } from './document-state.ts';

/** The checks of a server of documents, whatever the method. */
export const documentChecks: Checks = async (recorded) => {
  const { asked, url, clock, random } = recorded;
  const [method = '', target = ''] = asked.words;
  const { document, locks: held, kept } = await stateBefore(recorded);
  const root = new URL(url).pathname;
  const [path = ''] = target.split('?');
  return checksInOrder(DOCUMENT_STEPS, {
    asked,
    method,
    path: path === root ? '' : PATH,
    document: path === root ? undefined : document,
    kept: kept.get(target),
    held,
    locks: createLockSystem({ clock, random }),
    now: clock.now(),
  });
};
