/**
 * Schema 4: each commit to a tree gives it another `version`. A tree has none before its next one, so that nothing
 * is moved; but whoever knows of none may not start beside those who remember what they found under one.
 */
export async function giveVersionsToTrees(): Promise<void> {}
