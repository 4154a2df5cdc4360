import { globSync } from 'node:fs'
import { resolve } from 'node:path'
import type { event, EventShapes } from '#domain/event.ts'

export type EventShape = ReturnType<typeof event>

const isShapes = (exported: unknown): exported is EventShapes =>
  typeof exported === 'object' &&
  exported !== null &&
  Object.values(exported).length > 0 &&
  Object.values(exported).every((shape: unknown) => typeof shape === 'object' && shape !== null && 'upcasts' in shape)

const root = resolve(import.meta.dirname, '../..')

const exportsOf = async (file: string): Promise<readonly unknown[]> =>
  Object.values((await import(resolve(root, file))) as Record<string, unknown>)

/** The files that hold the shapes of stored events, found in the folders of the domain. */
export const eventFiles: readonly string[] = globSync('domain/**/events.ts', { cwd: root }).toSorted()

/** The types of the events whose shapes are in a file. */
export const typesIn = async (file: string): Promise<readonly string[]> =>
  (await exportsOf(file)).filter(isShapes).flatMap((shapes) => Object.keys(shapes))

/** Every event that is stored, by its type. */
export const allEvents: ReadonlyMap<string, EventShape> = new Map(
  (await Promise.all(eventFiles.map(exportsOf)))
    .flat()
    .filter(isShapes)
    .flatMap((shapes) => Object.entries(shapes)),
)
