import { importAsProduct } from '@automation/launcher/import-as-product'

// Loaded into API and worker by `--import`: the queue without priorities, first come, first served. The product has no
// such setting.
const { Queue } = await importAsProduct('bullmq', () => import('bullmq'))
const { add } = Queue.prototype
Queue.prototype.add = function (name, data, options) {
  if (options) delete options.priority
  return add.call(this, name, data, options)
}
