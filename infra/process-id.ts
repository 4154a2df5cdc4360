import { newId } from './ids.ts'

/** The id of this process, for as long as it runs. */
export const processId = newId()
