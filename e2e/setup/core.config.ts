/** `npm run test:core`: whatever needs no real part, no root and no browser. */
import { isCore, project } from './projects.ts';

export default project('core', isCore);
