import { createHash } from 'node:crypto'

/** Tells whether the inputs of a price are those of another: kept with each quote, so it can never change. */
export const digest = (text: string): string => createHash('sha256').update(text).digest('hex')
