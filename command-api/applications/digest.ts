import { hash } from 'node:crypto'

/** Tells whether the inputs of a price are those of another: kept with each quote, so it can never change. */
export const digest = (text: string): string => hash('sha256', text)
