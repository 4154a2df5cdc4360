import { parentPort } from 'node:worker_threads'
import type { IntegrationEndpoint } from '#domain/custom-integrations/events.ts'
import type { Json } from '#domain/event.ts'
import { OwnError } from '#domain/own-error.ts'
import { fillEndpoint, type Filled } from './fill.ts'

export type FillingTask = { readonly endpoint: IntegrationEndpoint; readonly envelope: Json }
export type FillingResult = { readonly filled: Filled } | { readonly fault: string }

const fill = ({ endpoint, envelope }: FillingTask): FillingResult => {
  try {
    return { filled: fillEndpoint(endpoint, envelope) }
  } catch (error) {
    return { fault: error instanceof OwnError ? error.message : 'The templates of the endpoint cannot be used.' }
  }
}

// The thread of `makeFilling`: one task at a time.
parentPort?.on('message', (task: FillingTask) => parentPort?.postMessage(fill(task)))
parentPort?.postMessage('ready')
